package console

func (c *Console) teamRoutes() []route { return nil }
