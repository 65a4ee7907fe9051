import KeelCache
import KeelHTTP
import Synchronization

final class StoringBody: Sendable {
    private let response: StoredResponse
    private let announced: Int64?
    private let recorder: BodyRecorder
    private let counts: StatisticsCounter
    private let save: @Sendable (StoredResponse, CacheBody) async -> Void
    private let hasEnded = Mutex(false)

    init(
        response: StoredResponse,
        announced: Int64?,
        recorder: BodyRecorder,
        counts: StatisticsCounter,
        save: @escaping @Sendable (StoredResponse, CacheBody) async -> Void
    ) {
        self.response = response
        self.announced = announced
        self.recorder = recorder
        self.counts = counts
        self.save = save
    }

    deinit {
        if !hasEnded.withLock({ $0 }) { counts.add(\.unfinishedBodies) }
    }

    func pass(_ read: HTTPByteStream.Read) async throws(TransportError) -> ArraySlice<UInt8>? {
        do throws(TransportError) {
            guard let piece = try await read() else {
                await end()
                return nil
            }
            await add(piece)
            // Some readers count the bytes and never ask for the end.
            if let announced, Int64(recorder.count) == announced { await end() }
            return piece
        } catch {
            recorder.giveUp()
            throw error
        }
    }

    func add(_ piece: ArraySlice<UInt8>) async {
        guard !hasEnded.withLock({ $0 }) else { return }
        await recorder.add(piece)
    }

    /// Stores the body if it is complete; only the first call counts.
    func end() async {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        let count = recorder.count
        guard announced.map({ $0 == Int64(count) }) ?? true, let body = recorder.finish() else {
            recorder.giveUp()
            counts.add(\.unfinishedBodies)
            return
        }
        var whole = response
        whole.length = count
        await save(whole, body)
    }
}
