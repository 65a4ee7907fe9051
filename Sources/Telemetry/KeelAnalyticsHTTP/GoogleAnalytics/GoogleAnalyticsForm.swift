import KeelAnalytics
import KeelCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct GoogleAnalyticsEvent: Sendable {
    var bytes: [UInt8]
    var anonymousID: String
    var userID: String?
    /// The user properties changed with it, as a JSON object.
    var userProperties: [UInt8]?

    func shares(with other: GoogleAnalyticsEvent) -> Bool {
        anonymousID == other.anonymousID && userID == other.userID
            && userProperties == nil && other.userProperties == nil
    }
}

/// Encodes records for the Measurement Protocol and applies its rules.
struct GoogleAnalyticsForm: Sendable {
    private typealias Limits = VendorLimits.GoogleAnalytics

    /// Returns the event of a record, whose age is that at `now`; throws the first violated rule.
    func event(
        of record: AnalyticsRecord,
        now: Date
    ) throws(AnalyticsRejection) -> GoogleAnalyticsEvent {
        guard now.timeIntervalSince(record.time) <= Limits.age else {
            throw AnalyticsRejection(
                "tooOld",
                "Google Analytics accepts nothing older than 72 hours."
            )
        }
        if let userID = record.userID, userID.utf16.count > Limits.userID {
            throw .invalidUser("The user's identifier has more than \(Limits.userID) characters.")
        }
        let name = try name(of: record)
        let parameters = try parameters(of: record)
        let userProperties = try userProperties(of: record)
        let bytes = JSONWriter.object { writer in
            writer.member("name", name)
            writer.key("timestamp_micros")
            writer.value(record.time.milliseconds * 1000)
            writer.object("params") { writer in
                for (name, value) in parameters { write(value, named: name, to: &writer) }
                // Session ids must be digits; without engagement time, no user counts as active.
                writer.member(
                    "session_id",
                    record.session.map { "\($0.start.milliseconds / 1000)" }
                )
                writer.member("engagement_time_msec", 1)
            }
        }
        return GoogleAnalyticsEvent(
            bytes: bytes,
            anonymousID: record.anonymousID,
            userID: record.userID,
            userProperties: userProperties
        )
    }

    // MARK: Names

    private func name(of record: AnalyticsRecord) throws(AnalyticsRejection) -> String {
        switch record.kind {
        case .screen(let name):
            guard !name.isEmpty else { throw .emptyName }
            return "screen_view"
        case .identify:
            _ = try record.identifiedUser()
            return "identify"
        case .userProperties:
            return "set_user_properties"
        case .event(let name):
            try check(name, as: "event's", limit: Limits.name, reserved: Limits.reservedEvents)
            return name
        }
    }

    private func check(
        _ name: String,
        as what: String,
        limit: Int,
        reserved: Set<String>
    ) throws(AnalyticsRejection) {
        guard (1...limit).contains(name.utf8.count), let first = name.utf8.first,
            first.isASCIILetter,
            name.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == 0x5F })
        else {
            // A leading underscore is reserved, but also invalid.
            throw AnalyticsRejection(
                "invalidName",
                "The \(what) name must be 1 to \(limit) letters, digits and underscores, "
                    + "and begin with a letter."
            )
        }
        guard !reserved.contains(name), !Limits.reservedPrefixes.contains(where: name.hasPrefix)
        else {
            throw AnalyticsRejection(
                "reservedName",
                "Google reserves the \(what) name '\(name)'."
            )
        }
    }

    // MARK: Parameters

    private func parameters(
        of record: AnalyticsRecord
    ) throws(AnalyticsRejection) -> [(key: String, value: AnalyticsValue)] {
        var properties = record.properties
        if case .screen(let name) = record.kind { properties["screen_name"] = .string(name) }
        // The context is part of each event, as there is no other place; the app's values win.
        for (name, text) in [
            ("app_version", record.context.appVersion), ("language", record.context.locale),
        ] {
            guard let text, properties[name] == nil else { continue }
            properties[name] = .string(text)
        }
        let own = record.session == nil ? 1 : 2
        guard properties.count + own <= Limits.parameters else {
            throw AnalyticsRejection(
                "tooManyProperties",
                "There are \(properties.count) parameters, including Keel's; at most "
                    + "\(Limits.parameters - own) are accepted."
            )
        }
        for (name, value) in properties.inOrder {
            try check(
                name,
                as: "parameter's",
                limit: Limits.name,
                reserved: Limits.reservedParameters
            )
            try checkShape(value, of: name)
        }
        return properties.inOrder
    }

    private func checkShape(
        _ value: AnalyticsValue,
        of name: String
    ) throws(AnalyticsRejection) {
        switch value {
        case .null:
            return
        case .boolean, .integer, .double, .string, .date:
            guard name != "items" else { throw nested(name) }
        case .array(let items) where name == "items" && items.count <= Limits.items:
            for case .object(let members) in items {
                for (_, member) in members {
                    switch member {
                    case .array, .object: throw nested("items")
                    default: continue
                    }
                }
            }
            guard items.allSatisfy(\.isObject) else { throw nested("items") }
        case .array, .object:
            throw nested(name)
        }
    }

    private func nested(_ name: String) -> AnalyticsRejection {
        AnalyticsRejection(
            "unsupportedValue",
            "The parameter '\(name)' has a value of the wrong type; Google accepts strings, numbers, "
                + "and up to \(Limits.items) flat objects in 'items'."
        )
    }

    private func write(_ value: AnalyticsValue, named name: String, to writer: inout JSONWriter) {
        switch value {
        // Without null, a parameter without a value is omitted, as is an empty list.
        case .null, .array([]):
            return
        case .double(let number) where !number.isFinite:
            return
        case .array(let items):
            writer.array(name) { writer in
                for case .object(let members) in items {
                    writer.object { writer in
                        for (name, value) in members.inOrder {
                            write(value, named: name, to: &writer)
                        }
                    }
                }
            }
        default:
            writer.key(name)
            write(plain: value, limit: Limits.text, to: &writer)
        }
    }

    private func write(plain value: AnalyticsValue, limit: Int, to writer: inout JSONWriter) {
        switch value {
        case .integer(let number): writer.value(number)
        case .double(let number): writer.value(number)
        case .string(let text): writer.value(text.cut(to: limit))
        // Parameters are texts or numbers.
        case .boolean(let flag): writer.value(flag ? "true" : "false")
        case .date(let date): writer.value((date.internetText ?? "").cut(to: limit))
        case .null, .array, .object: writer.null()
        }
    }

    // MARK: The user

    private func userProperties(
        of record: AnalyticsRecord
    ) throws(AnalyticsRejection) -> [UInt8]? {
        guard !record.userProperties.isEmpty else { return nil }
        guard record.userProperties.count <= Limits.userProperties else {
            throw AnalyticsRejection(
                "tooManyProperties",
                "There are \(record.userProperties.count) user properties; at most "
                    + "\(Limits.userProperties) are taken."
            )
        }
        for (name, value) in record.userProperties.inOrder {
            try check(
                name,
                as: "user property's",
                limit: Limits.userPropertyName,
                reserved: Limits.reservedUserProperties
            )
            guard !value.isNested else {
                throw AnalyticsRejection(
                    "unsupportedValue",
                    "The user property '\(name)' is an object or array; Google accepts strings and numbers."
                )
            }
        }
        return JSONWriter.object { writer in
            for (name, value) in record.userProperties.inOrder {
                writer.object(name) { writer in
                    writer.key("value")
                    write(plain: value, limit: Limits.userPropertyText, to: &writer)
                }
            }
        }
    }
}

extension AnalyticsValue {
    fileprivate var isObject: Bool {
        if case .object = self { true } else { false }
    }

    fileprivate var isNested: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
