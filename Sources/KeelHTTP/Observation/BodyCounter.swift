import Synchronization

/// Counts the bytes of a body that is read piece by piece.
final class BodyCounter: Sendable {
    private let state = Mutex<(total: Int64, hasEnded: Bool)>((0, false))

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
}
