package client

import (
	"context"
	"net/http"
)

// How methods call the operations of the API.

func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	return call[T](ctx, c, Request{Method: http.MethodGet, Path: path})
}

func put[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return call[T](ctx, c, Request{Method: http.MethodPut, Path: path, Body: body})
}

func post[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return call[T](ctx, c, Request{Method: http.MethodPost, Path: path, Body: body})
}
