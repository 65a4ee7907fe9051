import KeelWebSocket

/// Runs `body`, and returns the `WebSocketError` that it throws, or nil.
func failure(of body: () async throws -> Void) async throws -> WebSocketError? {
    do {
        try await body()
        return nil
    } catch let error as WebSocketError { return error }
}
