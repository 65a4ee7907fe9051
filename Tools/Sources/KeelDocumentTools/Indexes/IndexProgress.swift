internal import KeelStorageAdapting

/// The progress of a store that builds indexes.
package struct IndexProgress: Sendable, Hashable {
    /// The names of the indexes that are not complete.
    package let names: [String]
    /// The share of the documents that the index with the least progress covers.
    package let share: Double

    /// Creates the progress of indexes; nil if all are complete.
    package init?(_ indexes: [(name: String, progress: Double)]) {
        let open = indexes.filter { $0.progress < 1 }
        guard let share = open.map({ $0.progress }).min() else { return nil }
        names = open.map { $0.name }
        self.share = share
    }

    /// Reports the progress at intervals, until the indexes are complete or the task is canceled.
    ///
    /// Progress that is the same as the time before is not reported again.
    ///
    /// - Parameters:
    ///   - interval: The time between two looks.
    ///   - mostUnchanged: The number of looks without progress that ends the reports.
    ///   - indexes: Returns the indexes of the store. Its errors count as looks that did not take place.
    ///   - report: The closure, called with the progress.
    /// - Returns: The progress that stands still; nil if the indexes are complete or the task is canceled.
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
    /// The names of all indexes, with their progress.
    private var progress: [(name: String, progress: Double)] {
        get async throws {
            try await indexes().map { (name: $0.name, progress: $0.progress) }
        }
    }

    /// Reports the progress of the indexes that the store builds: ``IndexProgress/follow(every:endingAfter:of:_:)``.
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
