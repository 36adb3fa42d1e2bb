package console

func (c *Console) overviewRoutes() []route {
	return []route{{method: "GET", path: "/{$}", page: overviewPage}}
}

func overviewPage(*visit) (*page, error) {
	return &page{name: "overview", Title: "Overview", Nav: "overview", Crumbs: []crumb{{Word: "Overview"}}}, nil
}
