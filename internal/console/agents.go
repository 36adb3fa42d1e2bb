package console

func (c *Console) agentRoutes() []route { return nil }
