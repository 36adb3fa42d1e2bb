package console

func (c *Console) auditRoutes() []route { return nil }
