internal import RestaurantsDomain

/// A table of a user's favourites.
enum FavouriteListView {
    private static let columns = [
        TextTable.Column(title: "ID"),
        TextTable.Column(title: "NAME", isFlexible: true),
        TextTable.Column(title: "BOROUGH", isOptional: true),
        TextTable.Column(title: "RATING"),
        TextTable.Column(title: "SINCE"),
    ]

    static func render(
        _ entries: [FavouriteEntry],
        of user: UserID,
        _ screen: Screen
    ) -> String {
        guard !entries.isEmpty else { return "\(user) has no favourites yet." }
        let rows = entries.map { entry in
            [
                entry.favourite.restaurant.text,
                entry.restaurant?.name ?? "(no longer there)",
                entry.restaurant?.borough ?? "",
                entry.rating.map { GradeText.stars($0.stars) } ?? "–",
                DayText.day(entry.favourite.since),
            ]
        }
        let lines = TextTable(columns: columns, rows: rows)
            .lines(width: screen.width, style: screen.style)
        let end = "\(entries.count) favourite\(entries.count == 1 ? "" : "s") of \(user)."
        return (lines + [screen.style.faint(end)]).joined(separator: "\n")
    }
}
