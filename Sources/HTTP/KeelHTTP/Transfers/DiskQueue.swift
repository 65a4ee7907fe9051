import Dispatch

/// A serial queue for disk work, which would otherwise block the cooperative pool.
package struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "keel.http.transfer")

    package init() {}

    package func run<Value: Sendable, Failure: Error>(
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
