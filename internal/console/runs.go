package console

func (c *Console) runRoutes() []route { return nil }
