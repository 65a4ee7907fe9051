extension Sequence where Element: Sendable {
    /// Transforms the elements concurrently and returns the results in the order of the elements.
    ///
    /// ```swift
    /// let restaurants = try await ids.concurrentMap(limit: 4) { id in try await fetch(id) }
    /// ```
    ///
    /// At most `limit` calls of `transform`, and at least one, run at the same time, each in a child task. The first
    /// error cancels the running calls and starts no others; it is thrown after they have ended. Cancellation of the
    /// calling task cancels the calls.
    @concurrent
    public func concurrentMap<Value: Sendable, Failure: Error>(
        limit: Int,
        _ transform: @escaping @Sendable (Element) async throws(Failure) -> Value
    ) async throws(Failure) -> [Value] where Self: Sendable {
        let outcome = await withTaskGroup(
            of: (Int, Result<Value, Failure>).self
        ) { group -> Result<[Value], Failure> in
            var values: [Value?] = []
            var elements = makeIterator()
            @discardableResult func start() -> Bool {
                guard let element = elements.next() else { return false }
                let position = values.count
                values.append(nil)
                group.addTask {
                    do throws(Failure) {
                        return (position, .success(try await transform(element)))
                    } catch {
                        return (position, .failure(error))
                    }
                }
                return true
            }
            while values.count < Swift.max(1, limit), start() {}
            while let (position, result) = await group.next() {
                switch result {
                case .success(let value):
                    values[position] = value
                    start()
                case .failure(let error):
                    group.cancelAll()
                    return .failure(error)
                }
            }
            return .success(values.compactMap { $0 })
        }
        return try outcome.get()
    }
}
