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

/// Examples from the comments of KeelLogging and KeelLoggingOTLP; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func logFileReader(_ folder: URL) async throws {
        let reader = try LogFileReader(at: folder.appending(path: "app.log"))
        for record in try reader.read(upTo: 100) { print(record.message) }
        _ = reader
    }

    static func rotatingLogFile(_ folder: URL) async throws {
        var configuration = LogFileConfiguration()
        configuration.period = .day
        let file = try RotatingLogFile(at: folder.appending(path: "app.log"), configuration)
        _ = configuration
        _ = file
    }

    static func outputLogHandler(_ folder: URL) async throws {
        let file = try RotatingLogFile(at: folder.appending(path: "app.log"))
        LoggingSystem.bootstrap { label in RotatingFileLogHandler(label: label, output: file) }
        _ = file
    }

    static func logSensitivity(_ logger: Logger, _ user: Person, _ host: String) async throws {
        logger.info(
            "signed in",
            metadata: [
                "user": "\(user.name, sensitivity: .sensitive)",
                "host": "\(host, sensitivity: .public)",
            ]
        )
    }
}

// KeelLoggingOTLP
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
