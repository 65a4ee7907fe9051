#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPQuery {
    /// How several values of one name are written.
    public enum ListStyle: Sendable, Hashable {
        /// `tag=a&tag=b`, as HTML forms do.
        case repeated
        /// `tag=a%2Cb`: one item with commas.
        case commaSeparated
        /// `tag[]=a&tag[]=b`, as PHP and Rails read it.
        case bracketed
    }

    /// Adds several values of one name; none at all adds nothing.
    public mutating func append(
        _ name: String,
        _ values: [some LosslessStringConvertible],
        style: ListStyle = .repeated
    ) {
        let texts = values.map(\.description)
        guard !texts.isEmpty else { return }
        switch style {
        case .repeated: items += texts.map { Item(name: name, value: $0) }
        case .bracketed: items += texts.map { Item(name: name + "[]", value: $0) }
        case .commaSeparated:
            items.append(Item(name: name, value: texts.joined(separator: ",")))
        }
    }

    /// Adds the raw value of an enumeration's case or of a typed identifier; nil adds nothing.
    public mutating func append<Value: RawRepresentable>(_ name: String, _ value: Value?)
    where Value.RawValue: LosslessStringConvertible {
        append(name, value?.rawValue)
    }

    /// Adds a value that has a raw value and a text of its own, as that text; nil adds nothing.
    public mutating func append<Value: RawRepresentable & LosslessStringConvertible>(
        _ name: String,
        _ value: Value?
    ) where Value.RawValue: LosslessStringConvertible {
        append(name, value?.description)
    }

    /// Adds the raw values of an enumeration's cases; none at all adds nothing.
    public mutating func append<Value: RawRepresentable>(
        _ name: String,
        _ values: [Value],
        style: ListStyle = .repeated
    ) where Value.RawValue: LosslessStringConvertible {
        append(name, values.map(\.rawValue), style: style)
    }

    /// Adds a date as a service's JSON would write it; nil adds nothing.
    public mutating func append(
        _ name: String,
        _ date: Date?,
        as dates: JSONCoding.Dates = .iso8601
    ) {
        guard let date else { return }
        append(name, dates.text(of: date))
    }

    /// Adds a UUID in its usual form, in capitals; nil adds nothing.
    public mutating func append(_ name: String, _ value: UUID?) {
        append(name, value?.uuidString)
    }
}
