#if Crypto
internal import Dispatch
internal import Synchronization

/// Keys that are opened on first use, including by synchronous calls.
final class KeyOpening: Sendable {
    private let open: @Sendable () async throws(SecurityError) -> KeyRing
    private let executor = OpeningExecutor()
    private let opened = Mutex<KeyRing?>(nil)

    init(_ open: @escaping @Sendable () async throws(SecurityError) -> KeyRing) {
        self.open = open
    }

    func prepare() async throws(SecurityError) {
        guard opened.withLock({ $0 }) == nil else { return }
        _ = keep(try await open())
    }

    /// Returns the keys, blocking the thread until they are open.
    ///
    /// They are opened on a thread of their own, because blocked callers may hold all threads of the cooperative pool.
    func ring() throws(SecurityError) -> KeyRing {
        if let ring = opened.withLock({ $0 }) { return ring }
        let result = OpeningResult()
        Task(executorPreference: executor) { [open] in
            do throws(SecurityError) {
                result.end(.success(try await open()))
            } catch {
                result.end(.failure(error))
            }
        }
        return keep(try result.wait())
    }

    /// Keeps the opened keys, or returns those of a concurrent call that was faster.
    private func keep(_ ring: KeyRing) -> KeyRing {
        opened.withLock { opened in
            let kept = opened ?? ring
            opened = kept
            return kept
        }
    }
}

private final class OpeningResult: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<KeyRing, SecurityError>?>(nil)

    func end(_ result: Result<KeyRing, SecurityError>) {
        self.result.withLock { $0 = result }
        done.signal()
    }

    func wait() throws(SecurityError) -> KeyRing {
        done.wait()
        guard let result = result.withLock({ $0 }) else {
            throw SecurityError(.keyStoreFailed, "the keys could not be decrypted")
        }
        return try result.get()
    }
}

private final class OpeningExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "keel.security.opening")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
#endif
