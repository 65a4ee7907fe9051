import Synchronization

extension HTTPBody {
    func observed(by observer: TransferObserver) -> HTTPBody {
        let total = length
        var body = HTTPBody(
            length: total,
            isReplayable: isReplayable
        ) { () async throws(TransportError) in
            let stream = try await openInPieces()
            let counter = TakenBytes()
            observer.report(0, of: total)
            return stream.mapReads { read async throws(TransportError) in
                if let taken = counter.take() { observer.report(taken, of: total) }
                let piece = try await read()
                if let piece {
                    observer.show(piece)
                    counter.give(piece.count)
                }
                return piece
            }
        }
        // A file sent by the system has no visible chunks.
        if var file, !observer.observesChunks {
            file.observer = file.observer?.combined(with: observer) ?? observer
            body.file = file
        }
        return body
    }
}

extension HTTPByteStream {
    package func observed(by observer: TransferObserver, total: Int64?) -> HTTPByteStream {
        let counter = TakenBytes()
        observer.report(0, of: total)
        return mapReads { read async throws(TransportError) in
            let piece = try await read()
            if let piece, !piece.isEmpty {
                observer.show(piece)
                counter.give(piece.count)
                if let taken = counter.take() { observer.report(taken, of: total) }
            }
            return piece
        }
    }
}

private final class TakenBytes: Sendable {
    private let state = Mutex<(taken: Int64, given: Int64)>((0, 0))

    func give(_ count: Int) {
        state.withLock { $0.given += Int64(count) }
    }

    /// Marks all bytes handed over as taken, and returns the total if it has changed.
    func take() -> Int64? {
        state.withLock { state in
            guard state.given > state.taken else { return nil }
            state.taken = state.given
            return state.taken
        }
    }
}
