internal import RestaurantsDomain

/// A table of restaurants.
enum RestaurantListView {
    private static let columns = [
        TextTable.Column(title: "ID"),
        TextTable.Column(title: "NAME", isFlexible: true),
        TextTable.Column(title: "CUISINE", isFlexible: true),
        TextTable.Column(title: "BOROUGH", isOptional: true),
        TextTable.Column(title: "RATING", isOptional: true),
        TextTable.Column(title: "PRICE", isOptional: true),
        TextTable.Column(title: "GRADE", isOptional: true),
        TextTable.Column(title: "AWAY", isOptional: true),
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

    static func render(_ near: [NearbyRestaurant], _ screen: Screen) -> String {
        guard !near.isEmpty else { return "No restaurant whose place is known." }
        let rows = near.map { row($0.restaurant, away: DistanceText.text($0.metres)) }
        return table(rows, "The nearest \(count(near.map(\.restaurant)))", screen)
    }

    private static func count(_ restaurants: [Restaurant], end: String = ".") -> String {
        "\(restaurants.count) restaurant\(restaurants.count == 1 ? "" : "s")\(end)"
    }

    private static func table(
        _ restaurants: [Restaurant],
        _ end: String,
        _ screen: Screen
    ) -> String {
        table(restaurants.map { row($0) }, end, screen)
    }

    private static func table(_ rows: [[String]], _ end: String, _ screen: Screen) -> String {
        let lines = TextTable(columns: columns, rows: rows)
            .lines(width: screen.width, style: screen.style)
        return (lines + [screen.style.faint(end)]).joined(separator: "\n")
    }

    private static func row(_ restaurant: Restaurant, away: String = "") -> [String] {
        [
            restaurant.id.text, restaurant.name, restaurant.cuisine, restaurant.borough ?? "",
            restaurant.rating.map { NumberText.decimal($0, places: 1) } ?? "",
            restaurant.priceLevel.map(PriceText.text) ?? "",
            restaurant.latestGrade.map(GradeText.short) ?? "", away,
        ]
    }
}

/// Prices as signs.
enum PriceText {
    static func text(_ price: PriceLevel) -> String { String(repeating: "€", count: price.level) }
}

enum DistanceText {
    static func text(_ metres: Double) -> String {
        // Short distances are rounded to tens of metres, because the position is not more accurate.
        metres < 995
            ? "\(Int((metres / 10).rounded()) * 10) m"
            : "\(NumberText.decimal(metres / 1000, places: 1)) km"
    }
}

/// Grades and stars as text and signs.
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
