package console

func (c *Console) modelRoutes() []route { return nil }
