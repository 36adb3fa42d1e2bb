package console

func (c *Console) projectRoutes() []route { return nil }
