package import Foundation
internal import KeelAnalytics
internal import KeelAnalyticsHTTP

/// Exports tracked records, unless they are sealed, in Keel's ingest format.
package struct AnalyticsExport: Sendable {
    package struct Report: Encodable, Sendable, Equatable {
        package var events = 0
        /// The number of records that this version cannot decode or the format does not allow.
        package var skippedCount = 0

        private enum CodingKeys: String, CodingKey {
            case events
            case skippedCount = "leftOut"
        }
    }

    private let folder: URL
    private let destination: String?

    /// Creates an export of the records that are pending for a destination, or of all on disk; the app may be running.
    package init(of folder: URL, pendingFor destination: String? = nil) {
        self.folder = folder
        self.destination = destination
    }

    /// Writes each record as a JSON object without a line end, oldest first.
    ///
    /// - Throws: `AnalyticsError`, with the code `notFound` without a journal or for an unknown destination; an error
    ///   of `write`; or `CancellationError` if the task is canceled.
    package func run(_ write: ([UInt8]) throws -> Void) throws -> Report {
        var report = Report()
        var reader = try AnalyticsInspection(of: folder).reader(pendingFor: destination)
        while case let records = try reader.read(upTo: 500), !records.isEmpty {
            try Task.checkCancellation()
            for record in records {
                guard let line = try? KeelServerDestination.json(of: record) else {
                    report.skippedCount += 1
                    continue
                }
                try write(line)
                report.events += 1
            }
        }
        report.skippedCount += reader.skippedRecordCount
        return report
    }
}
