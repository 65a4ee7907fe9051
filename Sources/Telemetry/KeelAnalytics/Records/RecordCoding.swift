internal import KeelCBOR
internal import KeelCore
internal import KeelJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The encoding of a record in the journal: a CBOR array.
///
/// | place | content |
/// |---|---|
/// | 0 | the version of the format, 1 |
/// | 1 | the purpose |
/// | 2 | the id, 16 bytes |
/// | 3, 4 | the kind: 0 event, 1 screen, 2 identification, 3 user properties; its name or null |
/// | 5 | the time, in milliseconds since 1970 |
/// | 6 | the circumstances: see ``RecordCircumstances`` |
/// | 7, 8 | the properties, the user's properties |
enum RecordCoding {
    static let version: UInt64 = 1
    private static let count = 9

    static func begin(
        _ writer: inout CBORWriter,
        id: RecordID,
        kind: AnalyticsRecord.Kind,
        milliseconds: Int64,
        purpose: ConsentPurpose,
        circumstances: [UInt8]
    ) {
        writer.arrayHeader(count)
        writer.unsigned(version)
        writer.text(purpose.rawValue)
        writer.head(id)
        switch kind {
        case .event(let name): writer.kind(0, name)
        case .screen(let name): writer.kind(1, name)
        case .identify: writer.kind(2, nil)
        case .userProperties: writer.kind(3, nil)
        }
        writer.integer(milliseconds)
        writer.bytes += circumstances
    }

    /// Returns the purpose of a record without decoding the rest.
    static func purpose(of bytes: [UInt8]) throws(CBORError) -> ConsentPurpose {
        var reader = CBORReader(bytes)
        return try purpose(&reader)
    }

    private static func purpose(_ reader: inout CBORReader) throws(CBORError) -> ConsentPurpose {
        guard try reader.readArrayHeader() == count, try reader.readUnsigned() == version else {
            throw CBORError(.unsupported, at: 0)
        }
        return ConsentPurpose(rawValue: try reader.readText())
    }

    static func record(_ bytes: [UInt8]) throws(CBORError) -> AnalyticsRecord {
        var reader = CBORReader(bytes)
        let purpose = try purpose(&reader)
        let place = reader.position
        guard let id = RecordID(try reader.readByteString()) else {
            throw CBORError(.malformed, at: place)
        }
        let number = try reader.readUnsigned()
        let name = try reader.readTextIfPresent()
        let kind: AnalyticsRecord.Kind
        switch (number, name) {
        case (0, let name?): kind = .event(name)
        case (1, let name?): kind = .screen(name)
        case (2, nil): kind = .identify
        case (3, nil): kind = .userProperties
        default: throw CBORError(.unsupported, at: place)
        }
        let time = Date(milliseconds: try reader.readInteger())
        let circumstances = try RecordCircumstances(&reader)
        let properties = try reader.readValues()
        let userProperties = try reader.readValues()
        try reader.finish()
        return AnalyticsRecord(
            id: id.text,
            kind: kind,
            time: time,
            userID: circumstances.userID,
            anonymousID: circumstances.anonymousID,
            session: circumstances.session,
            properties: circumstances.superProperties.merging(properties) { _, own in own },
            userProperties: userProperties,
            context: circumstances.context,
            purpose: purpose
        )
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Whole milliseconds since 1970, rounded down.
    var milliseconds: Int64 {
        Int64(exactly: (timeIntervalSince1970 * 1000).rounded(.down)) ?? 0
    }
}

extension CBORWriter {
    /// Writes an id as a 16-byte string, without a temporary array.
    fileprivate mutating func head(_ id: RecordID) {
        bytes.append(0x50)
        bytes.append(littleEndian: id.high.byteSwapped)
        bytes.append(littleEndian: id.low.byteSwapped)
    }

    fileprivate mutating func kind(_ number: UInt64, _ name: String?) {
        unsigned(number)
        write(name)
    }
}
