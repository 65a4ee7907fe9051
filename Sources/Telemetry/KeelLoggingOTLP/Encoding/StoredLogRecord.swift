#if Logging

internal import KeelCore

internal import KeelLogging

/// A log record as stored in the journal until it is shipped.
///
/// | bytes | |
/// |---|---|
/// | 1 | the version of this format, 1 |
/// | varint | the length of the logger's label |
/// | as many | the label, which becomes the name of OTLP's instrumentation scope |
/// | the rest | an OTLP `LogRecord` message, including the identifier |
///
/// The record is encoded when it is logged, so that every attempt sends the same identifier.
struct StoredLogRecord {
    static let version: UInt8 = 1

    let label: String
    let message: ArraySlice<UInt8>

    /// Parses a stored record; nil if its version is unknown or it is corrupt.
    init?(_ bytes: [UInt8]) {
        guard bytes.first == Self.version else { return nil }
        var reader = ProtobufReader(bytes.dropFirst())
        guard let label = reader.data() else { return nil }
        self.label = String(decoding: label, as: UTF8.self)
        message = reader.rest
        var fields = ProtobufReader(message)
        while fields.next() != nil {}
        guard !fields.isDamaged else { return nil }
    }

    static func bytes(of record: LogRecord, id: String) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.reserveCapacity(512)
        writer.raw(CollectionOfOne(version))
        writer.varint(UInt64(record.label.utf8.count))
        writer.raw(record.label.utf8)
        writer.logRecord(record, id: id)
        return writer.bytes
    }
}

#endif
