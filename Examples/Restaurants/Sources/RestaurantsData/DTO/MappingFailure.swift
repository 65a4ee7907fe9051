internal import Foundation

/// Why an entry cannot become a thing of the domain.
///
/// There is no stand-in for what is missing, no random id and no date of today: an entry that
/// cannot be mapped is reported.
struct MappingFailure: Error, Hashable, Sendable {
    enum Problem: Hashable, Sendable {
        case missing
        case repeated
        case invalid(String)
        case unreadable(String)
    }

    /// The entry's id, as far as it could be read.
    let id: String?
    /// The field that is to blame, such as `grades[2].date`.
    let field: String
    let problem: Problem

    init(id: String?, _ field: String, _ problem: Problem) {
        self.id = id
        self.field = field
        self.problem = problem
    }

    /// Tells what `JSONDecoder` could not read.
    init(id: String?, undecodable error: any Error) {
        let context: DecodingError.Context? =
            switch error {
            case DecodingError.typeMismatch(_, let context),
                DecodingError.valueNotFound(_, let context),
                DecodingError.keyNotFound(_, let context),
                DecodingError.dataCorrupted(let context):
                context
            default: nil
            }
        // The path begins with the place in the page, which says nothing about the entry.
        let keys = context?.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }
        let path = (keys ?? []).dropFirst(2).joined().drop { $0 == "." }
        self.init(
            id: id,
            path.isEmpty ? "the entry" : String(path),
            .unreadable(context?.debugDescription ?? "\(error)")
        )
    }
}

extension MappingFailure: LocalizedError {
    var errorDescription: String? { "\(id.map { "Entry “\($0)”" } ?? "An entry"): \(reason)." }

    /// What is wrong, without the entry's id.
    var reason: String {
        switch problem {
        case .missing: "\(field) is missing"
        case .repeated: "\(field) is that of an entry before, too"
        case .invalid(let value): "\(field) is “\(value)”"
        case .unreadable(let explanation): "\(field) is not readable: \(explanation)"
        }
    }
}
