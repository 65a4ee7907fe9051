internal import RestaurantsDomain

/// Restaurants in a table.
enum RestaurantListView {
    private static let columns = [
        TextTable.Column(title: "ID"),
        TextTable.Column(title: "NAME", isFlexible: true),
        TextTable.Column(title: "CUISINE", isFlexible: true),
        TextTable.Column(title: "BOROUGH"),
        TextTable.Column(title: "GRADE"),
    ]

    static func render(_ restaurants: [Restaurant], limit: Int?, _ screen: Screen) -> String {
        guard !restaurants.isEmpty else {
            return "No restaurants. Names of boroughs and cuisines are written as in the list."
        }
        let isCut = restaurants.count == limit
        let end = isCut ? "The first \(restaurants.count) restaurants." : count(restaurants)
        return table(restaurants, end, screen)
    }

    static func render(
        _ restaurants: [Restaurant],
        searchedFor words: String,
        _ screen: Screen
    ) -> String {
        guard !restaurants.isEmpty else { return "No restaurant has all of “\(words)”." }
        return table(restaurants, "\(count(restaurants, end: "")) for “\(words)”.", screen)
    }

    private static func count(_ restaurants: [Restaurant], end: String = ".") -> String {
        "\(restaurants.count) restaurant\(restaurants.count == 1 ? "" : "s")\(end)"
    }

    private static func table(
        _ restaurants: [Restaurant],
        _ end: String,
        _ screen: Screen
    ) -> String {
        let rows = restaurants.map { restaurant in
            [
                restaurant.id.text, restaurant.name, restaurant.cuisine, restaurant.borough,
                restaurant.latestGrade.map(GradeText.short) ?? "–",
            ]
        }
        let lines = TextTable(columns: columns, rows: rows)
            .lines(width: screen.width, style: screen.style)
        return (lines + [screen.style.faint(end)]).joined(separator: "\n")
    }
}

/// Grades and stars in words and signs.
enum GradeText {
    static func short(_ grade: Grade) -> String {
        switch grade.mark {
        case .a, .b, .c: grade.mark.rawValue
        case .pending: "pending"
        case .awaitingReinspection: "again"
        case .notYetGraded: "–"
        }
    }

    static func stars(_ stars: Stars) -> String {
        String(repeating: "★", count: stars.count)
            + String(repeating: "☆", count: Stars.range.upperBound - stars.count)
    }
}
