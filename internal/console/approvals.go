package console

func (c *Console) approvalRoutes() []route { return nil }
