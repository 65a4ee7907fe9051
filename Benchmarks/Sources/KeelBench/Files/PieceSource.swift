import Synchronization

/// Provides pieces in order.
final class PieceSource: Sendable {
    private let rest: Mutex<ArraySlice<[UInt8]>>

    init(_ pieces: [[UInt8]]) { rest = Mutex(pieces[...]) }

    func next() -> [UInt8]? { rest.withLock { $0.popFirst() } }
}
