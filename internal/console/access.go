package console

func (c *Console) accessRoutes() []route { return nil }
