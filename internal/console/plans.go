package console

func (c *Console) planRoutes() []route { return nil }
