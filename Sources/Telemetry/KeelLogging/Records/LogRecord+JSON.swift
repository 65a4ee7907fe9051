#if Logging

internal import KeelCore
internal import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension LogRecord {
    /// Parses a line written as ``LogFormat/jsonLines``; nil if it is not one.
    ///
    /// - Parameter line: The line, with or without its line break.
    public init?(jsonLine line: some Collection<UInt8>) {
        guard let stored = try? JSONDecoder().decode(StoredLine.self, from: Data(line)),
            let time = InternetTime.microseconds(of: stored.time),
            let level = Logger.Level(rawValue: stored.level)
        else { return nil }
        self.init(
            time: time,
            level: level,
            label: stored.label,
            message: stored.message,
            fields: stored.metadata?.fields ?? [],
            source: stored.source,
            file: stored.file,
            function: stored.function,
            line: stored.line
        )
    }
}

private struct StoredLine: Decodable {
    let time: String
    let level: String
    let label: String
    let message: String
    let metadata: StoredFields?
    let source: String
    let file: String
    let function: String
    let line: UInt
}

/// Values by name.
private struct StoredFields: Decodable {
    let fields: [LogField]

    init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: StoredValue].self)
        fields = values.map { LogField($0.key, $0.value.value) }.sorted { $0.name < $1.name }
    }
}

/// A text, a list of values, or values by name.
private struct StoredValue: Decodable {
    let value: LogValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            value = .text(text)
        } else if let values = try? container.decode([StoredValue].self) {
            value = .list(values.map(\.value))
        } else {
            value = .map(try container.decode(StoredFields.self).fields)
        }
    }
}

#endif
