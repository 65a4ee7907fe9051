import Synchronization

/// Counts the bytes of a body that is read piece by piece, and notices when it is dropped.
///
/// The stream's closure holds it: it goes away with the last copy of the stream.
final class BodyCounter: Sendable {
    private let state = Mutex<(total: Int64, hasEnded: Bool)>((0, false))
    private let dropped: @Sendable (_ bytes: Int64) -> Void

    init(whenDropped dropped: @escaping @Sendable (_ bytes: Int64) -> Void) {
        self.dropped = dropped
    }

    deinit {
        let state = state.withLock { $0 }
        if !state.hasEnded { dropped(state.total) }
    }

    /// Adds a piece; returns the total when the piece is the end of the body, once.
    func add(_ piece: ArraySlice<UInt8>?) -> Int64? {
        state.withLock { state in
            guard let piece else {
                guard !state.hasEnded else { return nil }
                state.hasEnded = true
                return state.total
            }
            state.total += Int64(piece.count)
            return nil
        }
    }

    /// Ends the count at a failure.
    func end() { state.withLock { $0.hasEnded = true } }
}
