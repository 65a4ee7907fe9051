internal import KeelStorageAdapting

/// The progress of a store that builds indexes.
package struct IndexProgress: Sendable, Hashable {
    /// The names of the indexes that are not complete.
    package let names: [String]
    /// The share of the documents in the index with the least progress.
    package let share: Double

    /// Creates the progress of indexes; nil if all are complete.
    package init?(_ indexes: [(name: String, progress: Double)]) {
        let open = indexes.filter { $0.progress < 1 }
        guard let share = open.map({ $0.progress }).min() else { return nil }
        names = open.map { $0.name }
        self.share = share
    }

    /// Reports changes of the progress, until the indexes are complete or the task is canceled.
    ///
    /// - Parameters:
    ///   - interval: The time between two checks.
    ///   - mostUnchanged: The number of checks without a change after which the call returns.
    ///   - indexes: Returns the indexes of the store; a check in which it throws does not count.
    ///   - report: Receives the progress.
    /// - Returns: The progress that does not change; nil if the indexes are complete or the task is canceled.
    package static func follow(
        every interval: Duration,
        endingAfter mostUnchanged: Int = .max,
        of indexes: @Sendable () async throws -> [(name: String, progress: Double)],
        _ report: @Sendable (IndexProgress) -> Void
    ) async -> IndexProgress? {
        var last: IndexProgress?
        var unchanged = 0
        while !Task.isCancelled {
            if let found = try? await indexes() {
                guard let progress = IndexProgress(found) else { return nil }
                unchanged = progress == last ? unchanged + 1 : 0
                if unchanged == 0 { report(progress) }
                if unchanged >= mostUnchanged { return progress }
                last = progress
            }
            guard (try? await Task.sleep(for: interval)) != nil else { return nil }
        }
        return nil
    }
}

extension IndexedStore {
    private var progress: [(name: String, progress: Double)] {
        get async throws {
            try await indexes().map { (name: $0.name, progress: $0.progress) }
        }
    }

    /// Reports the progress of the store's indexes as ``IndexProgress/follow(every:endingAfter:of:_:)`` does.
    package func followIndexes(
        every interval: Duration,
        endingAfter mostUnchanged: Int = .max,
        _ report: @Sendable (IndexProgress) -> Void
    ) async -> IndexProgress? {
        await IndexProgress.follow(
            every: interval,
            endingAfter: mostUnchanged,
            of: { try await self.progress },
            report
        )
    }

    /// Builds the rest of the declared indexes, and reports the progress at intervals.
    package func finishIndexes(
        every interval: Duration,
        _ report: @escaping @Sendable (IndexProgress) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await self.followIndexes(every: interval, report) }
            defer { group.cancelAll() }
            try await self.finishIndexes()
        }
    }
}
