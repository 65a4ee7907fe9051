package import KeelStorage

/// Writes Keel's values, writes and queries as requests of Firestore's REST protocol.
///
/// The forms are those of the public reference (firebase.google.com/docs/firestore/reference/rest,
/// version v1): `Value`, `Document`, `Write`, `StructuredQuery`. Nothing is sent here.
package struct FirestoreRequestCoding: Sendable {
    /// The database's name: `projects/{project}/databases/{database}`.
    package let database: String

    /// Creates a coding for a database.
    package init(database: String) { self.database = database }

    /// The name under which requests know a document.
    package func name(of path: DocumentPath) -> String { "\(database)/documents/\(path.string)" }

    /// The name of what a query looks below: a document, or the root of the database.
    package func parent(of scope: DocumentQuery.Scope) -> String {
        let parent: DocumentPath? =
            switch scope {
            case .collection(let collection): collection.parent
            case .group(_, let ancestor): ancestor
            }
        return parent.map(name) ?? "\(database)/documents"
    }

    // MARK: Values

    /// The fields of a document or a map: `map<string, Value>`.
    package func fields(_ fields: DocumentFields) -> FirestoreJSON {
        var members: [String: FirestoreJSON] = [:]
        for field in fields { members[field.name] = value(field.value) }
        return .object(members)
    }

    /// A `Value`: an object whose one member names the type.
    package func value(_ value: DocumentValue) -> FirestoreJSON {
        switch value {
        case .null: ["nullValue": .null]
        case .boolean(let value): ["booleanValue": .boolean(value)]
        case .integer(let value): ["integerValue": .string("\(value)")]
        case .double(let value): ["doubleValue": Self.number(value)]
        case .timestamp(let time): ["timestampValue": .string(Self.text(of: time))]
        case .string(let value): ["stringValue": .string(value)]
        case .bytes(let bytes): ["bytesValue": .string(Self.base64(bytes))]
        case .reference(let path): ["referenceValue": .string(name(of: path))]
        case .geopoint(let point):
            [
                "geoPointValue": [
                    "latitude": .number(point.latitude), "longitude": .number(point.longitude),
                ]
            ]
        case .array(let values): ["arrayValue": ["values": .array(values.map(self.value))]]
        case .map(let fields): ["mapValue": ["fields": self.fields(fields)]]
        }
    }

    /// JSON has no word for these three; proto3's JSON form writes them as strings.
    private static func number(_ value: Double) -> FirestoreJSON {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return .number(value)
    }

    /// A time in the form of RFC 3339, with as many digits as it needs: none, three or six.
    package static func text(of time: Timestamp) -> String {
        let seconds = time.seconds
        let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        let (year, month, day) = civilDate(ofDay: days)
        let second = seconds - days * 86_400
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }
            .joined(separator: ":")
        return "\(date)T\(clock)\(digits(of: time.fraction))Z"
    }

    private static func digits(of microseconds: Int64) -> String {
        if microseconds == 0 { return "" }
        return microseconds % 1000 == 0
            ? ".\(padded(microseconds / 1000, 3))" : ".\(padded(microseconds, 6))"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The Gregorian date of a day counted from 1970.
    ///
    /// The algorithm is Howard Hinnant's ("chrono-compatible low-level date algorithms").
    private static func civilDate(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Eras of 400 years begin on 1 March, so that the leap day is a year's last.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static let base64Digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )

    private static func base64(_ bytes: [UInt8]) -> String {
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                text.append(
                    position <= group.count ? base64Digits[word >> (18 - 6 * position) & 63] : "="
                )
            }
        }
        return text
    }
}
