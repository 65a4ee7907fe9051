import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    static let smallestPartition = 128

    /// `partitionQuery`: returns names that divide a collection group into parts of about the same size.
    ///
    /// If the store supports counting, the names are found by their positions. Otherwise, for a time in the past, or if
    /// a document is unreadable, all names in the group are read, and a sample of them is kept.
    func partitionQuery(under parent: DocumentPath?) async throws(StorageError) -> [UInt8] {
        guard parent == nil else {
            throw FirestoreDecoding.flaw("only a query of the whole database can be divided")
        }
        let time = try time(try body.text("readTime"))
        let most = try body.wholeNumber("partitionCount") ?? 0
        guard most > 0 else { throw FirestoreDecoding.flaw("“partitionCount” must be positive") }
        let size = try pageSize(try body.wholeNumber("pageSize"))
        let name = try PageToken(try body.text("pageToken"))?.name
        let after = try name.map { name throws(StorageError) in try decoding.path(of: name) }
        let group = try group(of: try body.object("structuredQuery"), under: parent)
            .withCompleteOrders.select()
        // One more point shows whether there is a next page.
        let points = try await points(of: group, upTo: most, behind: after, size + 1, asOf: time)
        let page = points.prefix(size)
        let cursors = page.map { path -> FirestoreJSON in
            ["values": [encoding.value(.reference(path))]]
        }
        let isLast = page.count == points.count
        let token = isLast ? nil : page.last.map { PageToken(name: encoding.name(of: $0)).text }
        return FirestoreJSON.members([
            "partitions": .array(cursors),
            "nextPageToken": token.map(FirestoreJSON.string),
        ]).bytes
    }

    private static func pointCount(_ documents: Int, upTo most: Int64) -> Int {
        Int(min(most, Int64(max(1, documents / smallestPartition) - 1)))
    }

    private func points(
        of group: DocumentQuery,
        upTo most: Int64,
        behind after: DocumentPath?,
        _ wanted: Int,
        asOf time: Timestamp?
    ) async throws(StorageError) -> [DocumentPath] {
        if time == nil, adapter.capabilities.contains(.aggregation) {
            do throws(StorageError) {
                return try await placedPoints(of: group, upTo: most, behind: after, wanted)
            } catch {
                // Counting fails on an unreadable document, but its name can be read.
                guard error.code == .corrupted else { throw error }
            }
        }
        return try await sampledPoints(of: group, upTo: most, behind: after, asOf: time)
    }

    private func placedPoints(
        of group: DocumentQuery,
        upTo most: Int64,
        behind after: DocumentPath?,
        _ wanted: Int
    ) async throws(StorageError) -> [DocumentPath] {
        let total = try await count(of: group)
        let count = Self.pointCount(total, upTo: most)
        var last = after
        // The position of the previous point.
        var place = -1
        if let after { place = try await self.count(of: group.end(before: .reference(after))) }
        var points: [DocumentPath] = []
        for number in 0..<count where points.count < wanted {
            let next = (number + 1) * total / (count + 1)
            guard next > place else { continue }
            var query = group.offset(next - place - 1).limit(to: 1)
            if let last { query = query.start(after: .reference(last)) }
            let result = try await read(.query(query))
            // Documents may be deleted in the meantime.
            guard let path = try result.found.first?.path else { break }
            points.append(path)
            (last, place) = (path, next)
        }
        return points
    }

    private func count(of query: DocumentQuery) async throws(StorageError) -> Int {
        let result = try await read(.aggregate(query, [.count()]))
        return Int(try result.checkedValues(1)[0].integerValue ?? 0)
    }

    private func sampledPoints(
        of group: DocumentQuery,
        upTo most: Int64,
        behind after: DocumentPath?,
        asOf time: Timestamp?
    ) async throws(StorageError) -> [DocumentPath] {
        var sample = NameSample(configuration.mostNames)
        var walk = NameWalk(group, asOf: time)
        while let names = try await walk.next(.max, in: self) {
            for name in names { sample.insert(name) }
        }
        let sorted = sample.sorted
        let count = min(Self.pointCount(sorted.count * sample.scale, upTo: most), sorted.count)
        let points = (0..<count).map { sorted[($0 + 1) * sorted.count / (count + 1)] }
        return Array(points.drop { point in after.map { !($0 < point) } ?? false })
    }

    private func group(
        of json: FirestoreJSON?,
        under parent: DocumentPath?
    ) throws(StorageError) -> DocumentQuery {
        let query = try checked(try decoding.query(json, under: parent))
        guard case .group = query.scope else {
            throw FirestoreDecoding.flaw("only a query with “allDescendants” can be divided")
        }
        let orders = query.orders.filter { $0 != DocumentQuery.Order(.documentID, .ascending) }
        guard query.filter == nil, orders.isEmpty, query.limit == nil, query.offset == 0,
            query.start == nil, query.end == nil, query.search == nil
        else {
            throw FirestoreDecoding.flaw(
                "a query that is divided has no filter, limit, offset or cursor, and no order but "
                    + "that of the names"
            )
        }
        return query
    }
}

/// A sample of document names.
///
/// It contains all names up to a maximum number. Above it, the hashes of the names decide, so the same documents give
/// the same sample.
struct NameSample {
    private let most: Int
    private var names: Set<DocumentPath> = []
    private var highest = UInt64.max
    /// The number of names that each name of the sample represents.
    private(set) var scale = 1

    init(_ most: Int) { self.most = most }

    var sorted: [DocumentPath] { names.sorted() }

    mutating func insert(_ path: DocumentPath) {
        guard Self.mixed(path) <= highest else { return }
        names.insert(path)
        guard names.count > most else { return }
        highest /= 2
        scale *= 2
        names = names.filter { Self.mixed($0) <= highest }
    }

    private static func mixed(_ path: DocumentPath) -> UInt64 { StableHash.of(path.string.utf8) }
}
