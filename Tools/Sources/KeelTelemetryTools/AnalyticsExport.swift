package import Foundation
internal import KeelAnalytics
internal import KeelAnalyticsHTTP

/// Writes tracked events as lines of JSON, in the form of Keel's ingest format.
package struct AnalyticsExport: Sendable {
    /// How it went.
    package struct Report: Encodable, Sendable, Equatable {
        package var events = 0
        /// Records that this version does not understand, or that the form does not take.
        package var leftOut = 0
    }

    private let folder: URL
    private let destination: String?

    /// Prepares an export.
    ///
    /// - Parameters:
    ///   - folder: The folder of the app's analytics; the app may be running.
    ///   - destination: Whose waiting events are meant; nil is for all that are still on the disk.
    package init(of folder: URL, pendingFor destination: String? = nil) {
        self.folder = folder
        self.destination = destination
    }

    /// Writes each event, the oldest first.
    package func run(_ write: ([UInt8]) throws -> Void) throws -> Report {
        var report = Report()
        var reader = try AnalyticsInspection(of: folder).reader(pendingFor: destination)
        while case let records = try reader.take(upTo: 500), !records.isEmpty {
            for record in records {
                guard let line = try? KeelServerDestination.json(of: record) else {
                    report.leftOut += 1
                    continue
                }
                try write(line)
                report.events += 1
            }
        }
        report.leftOut += reader.undecodable
        return report
    }
}
