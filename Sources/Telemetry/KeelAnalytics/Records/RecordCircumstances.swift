internal import KeelCBOR

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The state shared by successive records: the user, session, super properties and context.
///
/// It is encoded when it changes, and the bytes are copied into each record.
struct RecordCircumstances: Sendable, Hashable {
    var userID: String?
    var anonymousID: String
    var session: AnalyticsRecord.Session?
    var superProperties: [String: AnalyticsValue] = [:]
    var context = AnalyticsContext()

    init(anonymousID: String) { self.anonymousID = anonymousID }

    /// A CBOR array: the user's id, the anonymous id, the session's id and start in milliseconds
    /// since 1970, the super properties, and an array of the context.
    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.arrayHeader(6)
        writer.write(userID)
        writer.text(anonymousID)
        writer.write(session?.id)
        writer.integer(session?.start.milliseconds ?? 0)
        writer.write(superProperties)
        let texts = context.texts
        writer.arrayHeader(texts.count)
        for text in texts { writer.write(text) }
        return writer.bytes
    }

    init(_ reader: inout CBORReader) throws(CBORError) {
        guard try reader.readArrayHeader() == 6 else {
            throw CBORError(.unsupported, at: reader.position)
        }
        userID = try reader.readTextIfPresent()
        anonymousID = try reader.readText()
        let sessionID = try reader.readTextIfPresent()
        let start = Date(milliseconds: try reader.readInteger())
        session = sessionID.map { AnalyticsRecord.Session(id: $0, start: start) }
        superProperties = try reader.readValues()
        guard let count = try reader.readArrayHeader() else {
            throw CBORError(.unsupported, at: reader.position)
        }
        var texts: [String?] = []
        for _ in 0..<count { texts.append(try reader.readTextIfPresent()) }
        context = AnalyticsContext(texts)
    }
}

extension AnalyticsContext {
    fileprivate var texts: [String?] {
        [
            appName, appVersion, appBuild, systemName, systemVersion, deviceModel, locale, timeZone,
        ]
    }

    /// Ignores fields that a later version appends.
    fileprivate init(_ texts: [String?]) {
        var texts = texts[...]
        appName = texts.popFirst() ?? nil
        appVersion = texts.popFirst() ?? nil
        appBuild = texts.popFirst() ?? nil
        systemName = texts.popFirst() ?? nil
        systemVersion = texts.popFirst() ?? nil
        deviceModel = texts.popFirst() ?? nil
        locale = texts.popFirst() ?? nil
        timeZone = texts.popFirst() ?? nil
    }
}
