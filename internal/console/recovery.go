package console

func (c *Console) recoveryRoutes() []route { return nil }
