internal import Foundation
internal import RestaurantsDomain

/// All about one restaurant.
enum RestaurantDetailView {
    static func render(_ details: RestaurantDetails, _ screen: Screen) -> String {
        let restaurant = details.restaurant
        let (address, style) = (restaurant.address, screen.style)
        var lines = [
            "\(style.bold(restaurant.name))  \(style.faint(restaurant.id.text))",
            "\(restaurant.cuisine) · \(address.building) \(address.street), "
                + "\(restaurant.borough) \(address.zipCode)",
        ]
        if let location = restaurant.location { lines.append(place(location)) }
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
        lines.append("")
        lines += grades(of: restaurant, screen)
        return lines.joined(separator: "\n")
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
        guard let average = restaurant.averageScore else { return ["Never inspected."] }
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
