import KeelCache
import Synchronization

/// A recorder of a body on its way to the caller, in memory or, if it is large, in a file.
///
/// Leaves nothing behind if released before the end.
final class BodyRecorder: Sendable {
    struct Limits: Hashable, Sendable {
        var file: Int
        var memory: Int
        var total: Int
    }

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var file: (any CacheFileWriter)?
        var count = 0
        var asksForFile = true
        var isGivenUp = false
    }

    private let limits: Limits
    private let makeFile: @Sendable () async -> (any CacheFileWriter)?
    // A body has one reader, so the lock is uncontended and no state changes between two steps.
    private let state = Mutex(State())

    init(_ limits: Limits, makeFile: @escaping @Sendable () async -> (any CacheFileWriter)?) {
        self.limits = limits
        self.makeFile = makeFile
    }

    var count: Int { state.withLock { $0.count } }

    func add(_ piece: ArraySlice<UInt8>) async {
        let (isWanted, needsFile) = state.withLock { state -> (Bool, Bool) in
            guard !state.isGivenUp else { return (false, false) }
            state.count += piece.count
            return (true, state.file == nil && state.count > limits.file && state.asksForFile)
        }
        guard isWanted else { return }
        guard count <= limits.total else { return giveUp() }
        if needsFile { await moveToFile() }
        if let file = state.withLock({ $0.file }) {
            do throws(CacheError) {
                try file.append(Array(piece))
            } catch {
                giveUp()
            }
        } else if count <= limits.memory {
            state.withLock { $0.bytes.append(contentsOf: piece) }
        } else {
            giveUp()
        }
    }

    func finish() -> CacheBody? {
        let (bytes, file, isGivenUp) = state.withLock { state in
            defer {
                state.bytes = []
                state.file = nil
            }
            return (state.bytes, state.file, state.isGivenUp)
        }
        guard !isGivenUp else { return nil }
        guard let file else { return .bytes(bytes) }
        do throws(CacheError) {
            return .file(try file.finish())
        } catch {
            return nil
        }
    }

    func giveUp() {
        let file = state.withLock { state in
            state.isGivenUp = true
            state.bytes = []
            return state.file.take()
        }
        file?.discard()
    }

    private func moveToFile() async {
        let file = await makeFile()
        let bytes = state.withLock { state in
            state.asksForFile = false
            return state.bytes
        }
        guard let file else { return }
        do throws(CacheError) {
            if !bytes.isEmpty { try file.append(bytes) }
            state.withLock { state in
                state.file = file
                state.bytes = []
            }
        } catch {
            file.discard()
            giveUp()
        }
    }
}
