internal import KeelDocuments
internal import KeelStorageAdapting

extension ReadResult.Payload {
    /// Returns whether two stores give the same result, apart from times and revisions.
    func says(_ other: Self) -> Bool {
        switch (self, other) {
        case (.documents(let one), .documents(let other)):
            one.count == other.count && zip(one, other).allSatisfy(Self.same)
        case (.found(let one), .found(let other)):
            one.count == other.count && zip(one, other).allSatisfy(Self.same)
        case (.values(let one), .values(let other)):
            one.count == other.count && zip(one, other).allSatisfy(Self.agree)
        case (.names(let one), .names(let other)):
            Self.says(Self.comparable(one), Self.comparable(other))
        default: false
        }
    }

    /// Compares aggregates; stores add doubles in different orders.
    private static func agree(_ one: DocumentValue, _ other: DocumentValue) -> Bool {
        guard case (.double(let left), .double(let right)) = (one, other), left.isFinite,
            right.isFinite
        else { return one == other }
        return abs(left - right) <= 1e-9 * max(abs(left), abs(right))
    }

    private static func comparable(_ names: [String]) -> [String] {
        names.filter { !StoredName.same($0, MirrorRecord.collection) }
    }

    private static func says(_ one: [String], _ other: [String]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy(StoredName.same)
    }

    func differences(from other: Self) -> [DocumentPath] {
        let (one, others) = (bodies, other.bodies)
        return Set(one.keys).union(others.keys).filter { one[$0] != others[$0] }.sorted()
    }

    private var bodies: [DocumentPath: DocumentBody] {
        let documents: [Document] =
            switch self {
            case .documents(let documents): documents.compactMap(\.self)
            case .found(let documents): documents
            case .values, .names: []
            }
        return Dictionary(documents.map { ($0.path, $0.body) }) { first, _ in first }
    }

    private static func same(_ one: Document?, _ other: Document?) -> Bool {
        one?.path == other?.path && one?.body == other?.body
    }
}

extension DocumentWrite {
    var changesDocument: Bool { operation != .verify }
}
