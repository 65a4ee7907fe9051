import KeelAnalytics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The properties that a vendor accepts.
///
/// Texts that are too long are truncated, as the vendors do. Any other violation refuses the
/// record, because a vendor would drop it silently.
struct ValueRules: Sendable {
    /// The maximum length of a text in UTF-16 units; longer ones are truncated.
    var textLimit = Int.max
    /// The maximum length of a property's name in UTF-16 units.
    var nameLimit = Int.max
    var countLimit = Int.max
    var depthLimit = 16

    /// Rules of a vendor that limits only the size of an event.
    static let lenient = ValueRules()

    // MARK: Checking

    /// Checks the properties of an event or a user.
    ///
    /// - Throws: `AnalyticsRejection` with the name of the first invalid property.
    func check(_ properties: [String: AnalyticsValue]) throws(AnalyticsRejection) {
        try check(properties, in: nil, depth: 0)
    }

    private func check(
        _ members: [String: AnalyticsValue],
        in property: String?,
        depth: Int
    ) throws(AnalyticsRejection) {
        guard members.count <= countLimit else {
            throw AnalyticsRejection(
                "tooManyProperties",
                "There are \(members.count) members in "
                    + (property.map { "the property '\($0)'" } ?? "the properties")
                    + "; at most \(countLimit) are accepted."
            )
        }
        // Sorted, so that a record is always refused for the same reason.
        for (name, value) in members.inOrder {
            guard name.utf16.count <= nameLimit else {
                throw AnalyticsRejection(
                    "invalidName",
                    "A property's name has \(name.utf16.count) characters; the limit is \(nameLimit)."
                )
            }
            try check(value, of: property ?? name, depth: depth)
        }
    }

    private func check(
        _ value: AnalyticsValue,
        of property: String,
        depth: Int
    ) throws(AnalyticsRejection) {
        switch value {
        case .array(let elements):
            try goDeeper(than: depth, in: property)
            guard elements.count <= countLimit else {
                throw AnalyticsRejection(
                    "tooManyProperties",
                    "The property '\(property)' has \(elements.count) elements; the limit is \(countLimit)."
                )
            }
            for element in elements { try check(element, of: property, depth: depth + 1) }
        case .object(let members):
            try goDeeper(than: depth, in: property)
            try check(members, in: property, depth: depth + 1)
        case .null, .boolean, .integer, .double, .string, .date:
            return
        }
    }

    private func goDeeper(than depth: Int, in property: String) throws(AnalyticsRejection) {
        guard depth < depthLimit else {
            throw AnalyticsRejection(
                "tooDeep",
                "The property '\(property)' nests objects and arrays over \(depthLimit) levels deep."
            )
        }
    }

    // MARK: Writing

    /// Writes the properties as members, sorted by name, without those whose names the destination reserves (`taken`).
    func write(
        _ properties: [String: AnalyticsValue],
        to writer: inout JSONWriter,
        except taken: Set<String> = []
    ) {
        for (name, value) in properties.inOrder where !taken.contains(name) {
            writer.key(name)
            write(value, to: &writer)
        }
    }

    /// Writes one value; a date becomes RFC 3339 text, which every vendor parses.
    func write(_ value: AnalyticsValue, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .boolean(let flag): writer.value(flag)
        case .integer(let number): writer.value(number)
        case .double(let number): writer.value(number)
        case .string(let text): writer.value(text.cut(to: textLimit))
        case .date(let date):
            if let text = date.internetText { writer.value(text) } else { writer.null() }
        case .array(let elements):
            writer.array { writer in
                for element in elements { write(element, to: &writer) }
            }
        case .object(let members):
            writer.object { writer in write(members, to: &writer) }
        }
    }
}

extension [String: AnalyticsValue] {
    /// The members sorted by name, so that a repeated request has the same bytes.
    var inOrder: [(key: String, value: AnalyticsValue)] { sorted { $0.key < $1.key } }
}

extension String {
    /// Returns the longest prefix of at most `limit` UTF-16 units.
    ///
    /// It ends at a character boundary, or at a scalar boundary if the first character is too long.
    func cut(to limit: Int) -> String {
        // UTF-8 never has fewer units than UTF-16, and its count needs no decoding.
        guard utf8.count > limit, utf16.count > limit else { return self }
        var end = startIndex
        var length = 0
        for character in self {
            length += character.utf16.count
            if length > limit { break }
            end = index(after: end)
        }
        if end > startIndex { return String(self[..<end]) }
        var scalars = String.UnicodeScalarView()
        length = 0
        for scalar in unicodeScalars {
            length += scalar.value > 0xFFFF ? 2 : 1
            if length > limit { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
