import Foundation
import Logging

/// A handler of swift-log that writes the same prepared line for each record.
struct ReadyLineLogHandler: LogHandler {
    let line: Data
    let file: AppendingFile
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { _ = line.withUnsafeBytes { file.append($0) } }
}
