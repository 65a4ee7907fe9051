internal import KeelCore
internal import Synchronization

final class LargeValueWriter: CacheFileWriter {
    private struct State: Sendable {
        /// The bytes after the last written frame; never empty once any were appended.
        var rest: [UInt8] = []
        var chunkCount = 0
        var byteCount = 0
        var isFinished = false
        var draft: LargeValueDraft?
    }

    private struct Chunk {
        var bytes: [UInt8]
        var number: Int
    }

    private let store: DiskStore
    private let file: any OpenFile
    private let format: LargeValueFormat
    private let state: Mutex<State>

    init(in store: DiskStore) throws(CacheError) {
        let id = store.configuration.randomness()
        let draft = LargeValueDraft(id: id, in: store)
        format = LargeValueFormat(id: id, sealing: store.codec.sealing)
        do throws(FileSystemError) {
            file = try store.files.open(store.names.unfinishedValue(id), for: .creating)
        } catch {
            throw CacheError(error, "a large value could not be created")
        }
        self.store = store
        state = Mutex(State(draft: draft))
        try draft.reserve(LargeValueFormat.headerByteCount)
        do throws(FileSystemError) {
            try file.write(format.header, at: 0)
        } catch {
            throw CacheError(error, "a large value could not be created")
        }
    }

    func append(_ bytes: [UInt8]) throws(CacheError) {
        // Positions are assigned under the lock, and written outside it.
        let taken = state.withLock { state -> (LargeValueDraft, [Chunk])? in
            guard !state.isFinished, let draft = state.draft else { return nil }
            state.byteCount += bytes.count
            var chunks: [Chunk] = []
            var position = 0
            while state.rest.count + bytes.count - position > LargeValueFormat.chunkByteCount {
                let missing = LargeValueFormat.chunkByteCount - state.rest.count
                state.rest += bytes[position..<position + missing]
                position += missing
                chunks.append(Chunk(bytes: state.rest, number: state.chunkCount))
                state.chunkCount += 1
                state.rest = []
            }
            state.rest += bytes[position...]
            return (draft, chunks)
        }
        guard let (draft, chunks) = taken else { throw Self.ended }
        do throws(CacheError) {
            for chunk in chunks { try write(chunk, isLast: false, draft) }
        } catch {
            // A value with a missing piece must never be finished.
            discard()
            throw error
        }
    }

    func finish() throws(CacheError) -> any CacheFile {
        let taken = state.withLock { state -> (LargeValueDraft, Chunk, Int)? in
            guard !state.isFinished, let draft = state.draft else { return nil }
            state.isFinished = true
            state.draft = nil
            let last = Chunk(bytes: state.rest, number: state.chunkCount)
            state.rest = []
            return (draft, last, state.byteCount)
        }
        guard let (draft, last, byteCount) = taken else { throw Self.ended }
        try write(last, isLast: true, draft)
        return DiskCacheFile(
            LargeValueReference(id: draft.id, byteCount: byteCount, plainByteCount: byteCount),
            file: file,
            format: format,
            store: store,
            draft: draft
        )
    }

    func discard() {
        // The draft removes the file when it is released, outside the lock.
        let draft = state.withLock { state in
            state.isFinished = true
            state.rest = []
            return state.draft.take()
        }
        withExtendedLifetime(draft) {}
    }

    private func write(
        _ chunk: Chunk,
        isLast: Bool,
        _ draft: LargeValueDraft
    ) throws(CacheError) {
        let frame = try format.frame(chunk.bytes, chunk.number, isLast: isLast)
        try draft.reserve(frame.count)
        do throws(FileSystemError) {
            try file.write(frame, at: format.offset(of: chunk.number))
        } catch {
            throw CacheError(error, "a large value could not be written")
        }
    }

    private static let ended = CacheError(
        .invalidArgument,
        "the value has already been finished or discarded"
    )
}
