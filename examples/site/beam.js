// Shows the rhythm of the light: two flashes every fifteen seconds.
const beam = document.getElementById("beam");
let second = 0;
setInterval(() => {
  second = (second + 1) % 15;
  beam.textContent = second === 0 || second === 3 ? "The lamp flashes." : "The lamp is dark.";
}, 1000);
