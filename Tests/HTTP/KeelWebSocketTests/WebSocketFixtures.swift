import KeelWebSocket
import Synchronization

/// Runs `body`, and returns the `WebSocketError` that it throws, or nil.
func failure(of body: () async throws -> Void) async throws -> WebSocketError? {
    do {
        try await body()
        return nil
    } catch let error as WebSocketError {
        return error
    }
}

final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    @discardableResult
    func next() -> Int { number.add(1, ordering: .relaxed).oldValue }
}
