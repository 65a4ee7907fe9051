#if Logging
import Foundation
import HTTPTypes
import Keel
import KeelJournal
import KeelLogging
import KeelLoggingOTLP
import KeelTestKit
import Logging
import Testing

/// Examples from the comments of KeelLoggingOTLP; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func oTLPLogOutput(
        _ folder: URL,
        _ configuration: OTLPLogConfiguration,
        _ transport: any HTTPTransport
    ) async throws {
        let journal = try Journal(at: folder)
        let output = OTLPLogOutput(journal)
        let exporter = try OTLPLogExporter(journal, to: configuration, over: transport)
        LoggingSystem.bootstrap { OTLPLogHandler(label: $0, output: output) }
        await exporter.run()  // beside the rest of the app
    }
}
#endif
