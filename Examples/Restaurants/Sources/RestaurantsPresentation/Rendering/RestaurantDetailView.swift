internal import Foundation
internal import RestaurantsDomain

enum RestaurantDetailView {
    static func render(_ details: RestaurantDetails, _ screen: Screen) -> String {
        let (restaurant, style) = (details.restaurant, screen.style)
        var lines = ["\(style.bold(restaurant.name))  \(style.faint(restaurant.id.text))"]
        lines += facts(about: restaurant)
        lines.append("")
        if let favourite = details.favourite {
            lines.append("\(style.red("♥")) your favourite since \(DayText.day(favourite.since))")
        }
        if let rating = details.ownRating {
            lines.append("\(style.yellow(GradeText.stars(rating.stars))) your rating")
        }
        lines.append(
            details.summary.map(summary) ?? style.faint("Nobody has rated it yet.")
        )
        if !restaurant.grades.isEmpty { lines += [""] + grades(of: restaurant, screen) }
        return lines.joined(separator: "\n")
    }

    /// The lines of the known properties.
    private static func facts(about restaurant: Restaurant) -> [String] {
        let kind = [
            restaurant.cuisine, restaurant.priceLevel.map(PriceText.text),
            restaurant.rating.map { "\(NumberText.decimal($0, places: 1)) of 5 from guests" },
        ]
        let door = [restaurant.address, restaurant.borough]
        let contact = [restaurant.phoneNumber, restaurant.website?.absoluteString]
        let lines =
            [(kind, " · "), (door, ", "), ([restaurant.location.map(place)], ""), (contact, " · ")]
            .map { parts, separator in parts.compactMap(\.self).joined(separator: separator) }
        return lines.filter { !$0.isEmpty } + restaurant.openingHours
    }

    private static func place(_ location: Coordinate) -> String {
        func degrees(_ value: Double, _ positive: String, _ negative: String) -> String {
            "\(NumberText.decimal(abs(value), places: 4))° \(value < 0 ? negative : positive)"
        }
        return "\(degrees(location.latitude, "N", "S")), \(degrees(location.longitude, "E", "W"))"
    }

    private static func summary(_ summary: RatingSummary) -> String {
        let average = NumberText.decimal(summary.average, places: 1)
        return "\(average) stars from \(summary.count) user\(summary.count == 1 ? "" : "s")"
    }

    private static func grades(of restaurant: Restaurant, _ screen: Screen) -> [String] {
        guard let average = restaurant.averageScore else { return [] }
        let rows = restaurant.grades.sorted { $0.date > $1.date }.map { grade in
            [DayText.day(grade.date), GradeText.short(grade), "\(grade.score)"]
        }
        let table = TextTable(
            columns: ["INSPECTED", "GRADE", "SCORE"].map { TextTable.Column(title: $0) },
            rows: rows
        )
        let end = "Average score \(NumberText.decimal(average, places: 1)); fewer is better."
        return table.lines(width: screen.width, style: screen.style) + [screen.style.faint(end)]
    }
}
