internal import RestaurantsDomain

/// The changes of a refresh.
enum RefreshView {
    /// The maximum number of rejections that are listed.
    private static let most = 10

    static func render(_ report: RefreshReport, _ style: Style) -> String {
        var lines = [
            "Refreshed: \(report.added) added, \(report.updated) updated, "
                + "\(report.removed) removed, \(report.unchanged) unchanged."
        ]
        guard !report.rejections.isEmpty else { return lines[0] }
        lines.append(style.yellow("\(report.rejections.count) entries could not be taken:"))
        lines += report.rejections.prefix(most).map { "  \($0.id ?? "?"): \($0.reason)" }
        if report.rejections.count > most { lines.append("  …") }
        return lines.joined(separator: "\n")
    }
}
