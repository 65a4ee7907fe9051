internal import KeelCore

/// What a service remembers between two starts besides its journal.
struct AnalyticsSettings: Sendable, Hashable {
    /// A session, and when it was last known to go on.
    struct Session: Sendable, Hashable {
        var id: String
        /// Milliseconds since 1970.
        var start: Int64
        var lastSeen: Int64
    }

    var anonymousID: String
    var userID: String?
    var superProperties: [String: AnalyticsValue] = [:]
    /// The user's properties that events carry, if they are attached.
    var userProperties: [String: AnalyticsValue] = [:]
    var session: Session?
    /// What the user decided.
    var consents: [ConsentPurpose: AnalyticsConsent] = [:]
    /// The purposes that were denied while it is not certain that their records are removed.
    var unfinishedDenials: Set<ConsentPurpose> = []
    /// Whether decisions were lost with a damaged file: purposes without a decision then count as
    /// unknown, whatever the default is.
    var hasLostConsents = false

    init(anonymousID: String) { self.anonymousID = anonymousID }
}

/// How settings stand in their file: an array of CBOR, and its CRC-32C in the last four bytes.
///
/// | place | content |
/// |---|---|
/// | 0 | the version of the form, 1 |
/// | 1, 2 | the anonymous id, the user's id or null |
/// | 3 | the super properties |
/// | 4 | null, or the session's id, its start and its last event, in milliseconds since 1970 |
/// | 5 | the decisions by purpose: 0 unknown, 1 granted, 2 denied, 3 denied, with records to remove |
/// | 6 | whether decisions were lost |
/// | 7 | the user's properties; missing where there are none, as earlier versions have it |
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

    /// Reads settings, nil when they are damaged or of another version.
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
            // A decision of a later version is none that this one may act on.
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
