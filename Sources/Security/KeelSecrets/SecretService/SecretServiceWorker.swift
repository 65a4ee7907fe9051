#if os(Linux)
internal import Dispatch
internal import KeelCore
internal import Synchronization

/// A dedicated serial queue for the blocking calls of libsecret.
///
/// The process has only one, so that comparing and setting is atomic for all its adapters.
enum SecretServiceWorker {
    private static let queue = DispatchQueue(label: "keel.secret-service")

    /// Makes a call, and returns at the deadline even if the call does not.
    static func run<Value: Sendable>(
        _ library: LibSecret,
        deadline: Duration,
        on timer: DeadlineTimer,
        _ body: @escaping @Sendable (SecretServiceSession) throws(SecretError) -> Value
    ) async throws(SecretError) -> Value {
        let call = PendingCall<Value>(library)
        let (result, isLate) = await timer.run(until: timer.now + deadline) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    call.begin(continuation)
                    queue.async { call.make(body) }
                }
            } onCancel: {
                call.cancel()
            }
        }
        if isLate, case .failure(let error) = result, error.isCancellation {
            throw SecretError(.timeout, "The Secret Service did not answer within \(deadline).")
        }
        return try result.get()
    }
}

/// A call that ends once, with its result or its cancellation.
///
/// `@unchecked` because of the cancellable, whose functions GLib allows on any thread.
private final class PendingCall<Value: Sendable>: @unchecked Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Value, SecretError>, Never>?
        var isCancelled = false
    }

    private let library: LibSecret
    private let cancellable: LibSecret.Object?
    private let state = Mutex(State())

    init(_ library: LibSecret) {
        self.library = library
        cancellable = library.cancellableNew()
    }

    deinit { if let cancellable { library.release(cancellable) } }

    func begin(_ continuation: CheckedContinuation<Result<Value, SecretError>, Never>) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.continuation = continuation }
            return state.isCancelled
        }
        if isCancelled { continuation.resume(returning: .failure(Self.cancellation)) }
    }

    func make(_ body: (SecretServiceSession) throws(SecretError) -> Value) {
        guard state.withLock({ $0.continuation != nil }) else { return }
        let session = SecretServiceSession(library: library, cancellable: cancellable)
        do throws(SecretError) {
            finish(.success(try body(session)))
        } catch {
            finish(.failure(error))
        }
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        if let cancellable { library.cancellableCancel(cancellable) }
        finish(.failure(Self.cancellation))
    }

    private func finish(_ result: Result<Value, SecretError>) {
        state.withLock { $0.continuation.take() }?.resume(returning: result)
    }

    private static var cancellation: SecretError {
        SecretError(.cancelled, "The call was canceled.", cause: CancellationError())
    }
}
#endif
