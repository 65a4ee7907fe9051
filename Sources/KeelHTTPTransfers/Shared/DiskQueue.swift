import Dispatch

/// A queue on which the calls of one transfer wait for the disk.
///
/// They would otherwise hold one of the few threads on which all tasks run.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "keel.http.transfer")

    /// Does work on the queue and returns what became of it.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { waiter in
            queue.async {
                do throws(Failure) {
                    waiter.resume(returning: Result<Value, Failure>.success(try work()))
                } catch {
                    waiter.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
