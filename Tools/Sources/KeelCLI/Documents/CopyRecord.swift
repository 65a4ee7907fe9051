import KeelDocumentTools

/// The report of a copy for programs.
struct CopyRecord: Encodable {
    struct Comparison: Encodable {
        let scope: String
        let source: Int
        let target: Int
        let isSame: Bool
        let hash: String
    }

    let copied: Int
    let unreadable: [UnreadableRecord]
    let keepsTimes: Bool
    let isVerified: Bool
    let comparisons: [Comparison]

    init(_ report: CopyReport) {
        copied = report.copied
        unreadable = UnreadableRecord.all(report.unreadable)
        keepsTimes = report.keepsTimes
        isVerified = report.isVerified
        comparisons = report.comparisons.map { comparison in
            Comparison(
                scope: comparison.scope.description,
                source: comparison.source.count,
                target: comparison.target.count,
                isSame: comparison.isSame,
                hash: comparison.source.hash
            )
        }
    }
}
