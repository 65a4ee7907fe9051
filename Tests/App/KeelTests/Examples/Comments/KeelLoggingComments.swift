#if Logging
import Foundation
import HTTPTypes
import Keel
import KeelLogging
import KeelTestKit
import Logging
import Testing

/// Examples from the comments of KeelLogging; compiled but not run, see ``CommentExamples``.
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
#endif
