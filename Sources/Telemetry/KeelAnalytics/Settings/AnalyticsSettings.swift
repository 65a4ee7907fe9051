internal import KeelCBOR
internal import KeelCore

struct AnalyticsSettings: Sendable, Hashable {
    struct Session: Sendable, Hashable {
        var id: String
        /// Milliseconds since 1970.
        var start: Int64
        var lastSeen: Int64
    }

    var anonymousID: String
    var userID: String?
    var superProperties: [String: AnalyticsValue] = [:]
    /// The user's properties that events include, if configured.
    var userProperties: [String: AnalyticsValue] = [:]
    var session: Session?
    var consents: [ConsentPurpose: AnalyticsConsent] = [:]
    /// The denied purposes whose records may not be completely removed.
    var unfinishedDenials: Set<ConsentPurpose> = []
    /// Whether decisions were lost with a corrupt file; purposes without a decision then count as
    /// unknown, whatever the default.
    var hasLostConsents = false

    init(anonymousID: String) { self.anonymousID = anonymousID }
}

/// The encoding of settings: a CBOR array, followed by its CRC-32C in four bytes.
///
/// | place | content |
/// |---|---|
/// | 0 | the version of the format, 1 |
/// | 1, 2 | the anonymous id, the user's id or null |
/// | 3 | the super properties |
/// | 4 | null, or the session's id, start and last event, in milliseconds since 1970 |
/// | 5 | the decisions by purpose: 0 unknown, 1 granted, 2 denied, 3 denied, with records to remove |
/// | 6 | whether decisions were lost |
/// | 7 | the user's properties; omitted if empty, as in earlier versions |
extension AnalyticsSettings {
    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.arrayHeader(userProperties.isEmpty ? 7 : 8)
        writer.unsigned(1)
        writer.text(anonymousID)
        writer.write(userID)
        writer.write(superProperties)
        if let session {
            writer.arrayHeader(3)
            writer.text(session.id)
            writer.integer(session.start)
            writer.integer(session.lastSeen)
        } else {
            writer.null()
        }
        writer.mapHeader(consents.count)
        for (purpose, consent) in consents.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.text(purpose.rawValue)
            let isUnfinished = consent == .denied && unfinishedDenials.contains(purpose)
            writer.unsigned(isUnfinished ? Self.unfinishedNumber : consent.number)
        }
        writer.boolean(hasLostConsents)
        if !userProperties.isEmpty { writer.write(userProperties) }
        var bytes = writer.bytes
        bytes.append(littleEndian: CRC32C.checksum(bytes))
        return bytes
    }

    private static let unfinishedNumber: UInt64 = 3

    /// Parses settings; nil if they are corrupt or of another version.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 4 else { return nil }
        let content = Array(bytes.dropLast(4))
        let checksum = bytes.withUnsafeBytes {
            $0.loadLittleEndian(at: content.count, as: UInt32.self)
        }
        guard checksum == CRC32C.checksum(content),
            let settings = try? AnalyticsSettings(reading: content)
        else { return nil }
        self = settings
    }

    private init(reading bytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(bytes)
        let count = try reader.readArrayHeader()
        guard count == 7 || count == 8, try reader.readUnsigned() == 1 else {
            throw CBORError(.unsupported, at: 0)
        }
        self.init(anonymousID: try reader.readText())
        userID = try reader.readTextIfPresent()
        superProperties = try reader.readValues()
        if !reader.readNullIfPresent() {
            guard try reader.readArrayHeader() == 3 else {
                throw CBORError(.unsupported, at: reader.position)
            }
            session = Session(
                id: try reader.readText(),
                start: try reader.readInteger(),
                lastSeen: try reader.readInteger()
            )
        }
        for _ in 0..<(try reader.readMapHeader() ?? 0) {
            let purpose = ConsentPurpose(rawValue: try reader.readText())
            let number = try reader.readUnsigned()
            guard number != Self.unfinishedNumber else {
                consents[purpose] = .denied
                unfinishedDenials.insert(purpose)
                continue
            }
            // This version must not act on a decision that only a later version knows.
            consents[purpose] = AnalyticsConsent(number: number) ?? .unknown
        }
        hasLostConsents = try reader.readBoolean()
        if count == 8 { userProperties = try reader.readValues() }
        try reader.finish()
    }
}

extension AnalyticsConsent {
    fileprivate var number: UInt64 {
        switch self {
        case .unknown: 0
        case .granted: 1
        case .denied: 2
        }
    }

    fileprivate init?(number: UInt64) {
        switch number {
        case 0: self = .unknown
        case 1: self = .granted
        case 2: self = .denied
        default: return nil
        }
    }
}
