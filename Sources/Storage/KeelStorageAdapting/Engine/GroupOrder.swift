package import KeelDocuments

package struct IdentifierStretch {
    package let collection: Int64
    package let isBackward: Bool
    /// The bounds, each with the comparison operator between a document's id and the bound.
    package let bounds: [(sign: String, id: String)]

    init(of collection: Int64, after id: String) {
        self.collection = collection
        isBackward = false
        bounds = [(">", id)]
    }

    fileprivate init(
        _ member: GroupOrder.Member,
        in range: KeyRange,
        behind first: String?,
        upTo last: String?,
        isBackward: Bool
    ) {
        collection = member.number
        self.isBackward = isBackward
        let lower = Self.bound(range.lower, in: member).map { ($0.isBehind ? ">=" : ">", $0.id) }
        let upper = Self.bound(range.upper, in: member).map { ($0.isBehind ? "<" : "<=", $0.id) }
        bounds = [lower, first.map { (">", $0) }, upper, last.map { ("<=", $0) }].compactMap(\.self)
    }

    /// Returns the id at which a cut between path keys lies, and whether the document with that id is after the cut.
    private static func bound(
        _ cut: KeyRange.Cut?,
        in member: GroupOrder.Member
    ) -> (id: String, isBehind: Bool)? {
        guard let cut, let id = IndexKey.id(in: cut.bytes, after: member.key) else { return nil }
        var own = member.key
        IndexKey.append(id: id, to: &own)
        let isBehind = cut.firstKeyBehind.map { !own.lexicographicallyPrecedes($0) } ?? false
        return (id, isBehind)
    }
}

package protocol CollectionDirectory {
    /// Returns the number of a collection; nil if it never had a document.
    func number(of collection: CollectionPath) throws -> Int64?
    func collections(
        of prepared: PreparedQuery
    ) throws -> [(number: Int64, path: CollectionPath)]
    /// Returns whether all collections with a name, or all collections, have keys by which they can be found in order.
    func hasKeys(named name: String?) throws -> Bool
    /// Returns the first collections, with a name or with any, whose keys are in a range, in key order; backward, the
    /// last collections in reverse order.
    func page(
        named name: String?,
        in range: KeyRange,
        isBackward: Bool,
        most: Int
    ) throws -> [GroupOrder.Member]
}

/// The documents of a query's collections in path order, as successive ranges.
///
/// The collections are read in the order of their keys, one page at a time. Matching collections below a document come
/// between that document and the next one in its collection, which remains open meanwhile.
package struct GroupOrder {
    package struct Member {
        package let number: Int64
        package let path: CollectionPath
        /// The common prefix of the path keys of its documents.
        package let key: [UInt8]

        package init(number: Int64, path: CollectionPath, key: [UInt8]) {
            self.number = number
            self.path = path
            self.key = key
        }
    }

    private struct Open {
        let member: Member
        /// The last id that was passed or, backward, the last id that remains; nil at first.
        var bound: String?
    }

    private static let mostInPage = 200

    private let directory: any CollectionDirectory
    private let prepared: PreparedQuery
    private let range: KeyRange
    private let isBackward: Bool
    private let name: String?
    private var pageSize = 8
    /// The collections that were read and not yet reached, the next one last.
    private var waiting: [Member] = []
    private var following: KeyRange?
    /// If backward, the collections that enclose the start of the range, outermost first; they are read last.
    private var around: [Member] = []
    private var open: [Open] = []
    private var stretches: [IdentifierStretch] = []

    /// Creates the order of the documents whose path keys are in a range; backward, the last path comes first.
    ///
    /// - Throws: The errors of the directory.
    package init(
        _ prepared: PreparedQuery,
        in range: KeyRange,
        isBackward: Bool,
        _ directory: any CollectionDirectory
    ) throws {
        self.directory = directory
        self.prepared = prepared
        self.range = range
        self.isBackward = isBackward
        if case .group(let name, _) = prepared.query.scope { self.name = name } else { name = nil }
        // An empty range is handled here, because its bounds may lie in different collections.
        guard !range.isEmpty else { return }
        let isSingle = if case .collection = prepared.query.scope { true } else { false }
        guard !isSingle, try directory.hasKeys(named: name) else {
            let all = try directory.collections(of: prepared).map { number, path in
                Member(number: number, path: path, key: IndexKey.key(ofAllIn: path))
            }
            .filter { member in
                let own = KeyRange(from: .before(member.key), to: .after(member.key))
                return !own.intersection(range).isEmpty
            }
            waiting = all.sorted { one, other in
                let precedes = one.key.lexicographicallyPrecedes(other.key)
                return isBackward ? precedes : !precedes && one.key != other.key
            }
            return
        }
        following = range
        guard let lower = range.lower else { return }
        // Collections that enclose the start of the range have keys before the range.
        let paths = IndexKey.collections(in: lower.bytes)
        for path in paths where prepared.covers(path) {
            let key = IndexKey.key(ofAllIn: path)
            guard key.lexicographicallyPrecedes(range.first),
                let number = try directory.number(of: path)
            else { continue }
            let member = Member(number: number, path: path, key: key)
            guard !isBackward else {
                around.append(member)
                continue
            }
            // In an enclosing collection, the documents up to the ancestor of the inner collection precede the range.
            let id = path == paths.last ? nil : IndexKey.id(in: lower.bytes, after: key)
            open.append(Open(member: member, bound: id))
        }
    }

    package mutating func next() throws -> IdentifierStretch? {
        while stretches.isEmpty {
            guard let member = try nextMember() else {
                guard let last = open.popLast() else { return nil }
                close(last)
                continue
            }
            if isBackward { try passBackward(member) } else { passForward(member) }
        }
        return stretches.popLast()
    }

    // MARK: Forward

    private mutating func passForward(_ member: Member) {
        var found: [IdentifierStretch] = []
        while let last = open.last, !member.key.starts(with: last.member.key) {
            open.removeLast()
            found.append(stretch(last.member, behind: last.bound))
        }
        if var last = open.popLast() {
            let id = IndexKey.id(in: member.key, after: last.member.key)
            if !Self.same(id, last.bound) {
                found.append(stretch(last.member, behind: last.bound, upTo: id))
            }
            last.bound = id
            open.append(last)
        }
        open.append(Open(member: member))
        stretches = found.reversed()
    }

    // MARK: Backward

    private mutating func passBackward(_ member: Member) throws {
        var found: [IdentifierStretch] = []
        // Its end was passed when the first collection below it was reached.
        if let last = open.last, last.member.number == member.number {
            open.removeLast()
            stretches = [stretch(member, upTo: last.bound)]
            return
        }
        while let last = open.last, !member.key.starts(with: last.member.key) {
            open.removeLast()
            found.append(stretch(last.member, upTo: last.bound))
        }
        for path in IndexKey.collections(in: member.key).dropLast() where prepared.covers(path) {
            let key = IndexKey.key(ofAllIn: path)
            let id = IndexKey.id(in: member.key, after: key)
            if let position = open.firstIndex(where: { $0.member.key == key }) {
                if !Self.same(open[position].bound, id) {
                    found.append(
                        stretch(open[position].member, behind: id, upTo: open[position].bound)
                    )
                }
                open[position].bound = id
            } else if let number = try directory.number(of: path) {
                let outer = Member(number: number, path: path, key: key)
                found.append(stretch(outer, behind: id))
                open.append(Open(member: outer, bound: id))
            }
        }
        found.append(stretch(member))
        stretches = found.reversed()
    }

    private static func same(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return StoredName.same(one, other)
    }

    // MARK: Collections

    private mutating func close(_ last: Open) {
        stretches = [
            isBackward
                ? stretch(last.member, upTo: last.bound) : stretch(last.member, behind: last.bound)
        ]
    }

    private func stretch(
        _ member: Member,
        behind first: String? = nil,
        upTo last: String? = nil
    ) -> IdentifierStretch {
        IdentifierStretch(member, in: range, behind: first, upTo: last, isBackward: isBackward)
    }

    private mutating func nextMember() throws -> Member? {
        while waiting.isEmpty, let range = following { try readPage(of: range) }
        return waiting.popLast() ?? around.popLast()
    }

    private mutating func readPage(of range: KeyRange) throws {
        following = nil
        guard !range.isEmpty else { return }
        let size = pageSize
        pageSize = min(2 * size, Self.mostInPage)
        let page = try directory.page(
            named: name,
            in: range,
            isBackward: isBackward,
            most: size
        )
        waiting = page.filter { prepared.covers($0.path) }.reversed()
        guard page.count == size, let last = page.last?.key else { return }
        following =
            isBackward
            ? KeyRange(from: range.lower, to: .before(last))
            : KeyRange(from: .before(last + [0]), to: range.upper)
    }

}
